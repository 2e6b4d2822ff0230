inbox-title = Conversas
inbox-any = Qualquer
inbox-assigned = Responsável
inbox-connection = Conexão
inbox-counts = Conversas por situação
inbox-empty = Nenhuma conversa aqui.
inbox-filter = Filtrar
inbox-filter-clear = Mostrar todas
inbox-me = Eu
inbox-messages = Mensagens
inbox-nobody = Ninguém
inbox-own = Enviada:
inbox-search = Buscar
inbox-stage = Etapa
inbox-state = Situação
inbox-status-open = Aberta
inbox-status-resolved = Encerrada
inbox-status-unread = Não lida
inbox-tag = Etiqueta
inbox-unread = Nova
inbox-unread-count = { $count ->
    [one] 1 nova
   *[other] { $count } novas
}
inbox-unread-only = Só não lidas
inbox-keys-next = Próxima conversa
inbox-keys-previous = Conversa anterior
inbox-keys-search = Ir para a busca
