"use strict";
// Shows the document that this server answers. Nothing is loaded from anywhere else.
SwaggerUIBundle({
  url: "api/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
