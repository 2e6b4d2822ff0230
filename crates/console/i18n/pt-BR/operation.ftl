operation-title = Operação
