templates-title = Modelos
