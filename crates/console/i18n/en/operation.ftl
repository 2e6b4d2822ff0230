operation-title = Operation
