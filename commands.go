package ubl

// Commands is every command that one node may forward to another, as zero
// values. A new command is added here; a test misses it otherwise.
func Commands() []Command {
	return []Command{
		// Room
		SendMessage{}, Announce{}, ReadHistory{}, RoomHead{}, GetRoom{}, GetAgreement{}, EndAgreement{},
		AddMember{}, JoinRoom{}, Welcome{}, SetMember{}, RemoveMember{}, SetRoomPolicy{}, Sweep{},
		// Tenant
		Enter{}, GetTenant{}, SetDefaults{}, ListRooms{}, CreateRoom{}, ListMembers{}, FindMember{},
		SetTenantMember{}, RemoveTenantMember{}, CreateServiceToken{}, RevokeServiceToken{},
		ListServiceTokens{}, CheckServiceToken{}, AdmitToken{}, RevokeToken{}, SweepRooms{},
		// LedgerShard
		GetReceipt{}, GetLedgerHead{}, ReadAtoms{},
	}
}

// Answers is every type that a command is answered with, as zero values; nil
// is the answer of those that have nothing to say.
func Answers() []any {
	return []any{
		nil,
		// Room
		(*Sent)(nil), (*HistoryPage)(nil), Head{}, (*Room)(nil), (*AgreementView)(nil), (*Member)(nil),
		// Tenant
		(*Entered)(nil), (*Tenant)(nil), []RoomEntry(nil), (*RoomSummary)(nil), []Member(nil),
		(*ServiceToken)(nil), []ServiceToken(nil), (*Identity)(nil), 0,
		// LedgerShard
		(*ReceiptPair)(nil), LedgerHead{}, (*AtomPage)(nil),
	}
}
