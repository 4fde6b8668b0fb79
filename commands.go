package ubl

// Commands is every command that one node may forward to another, as zero
// values. A new command is added here; a test misses it otherwise.
func Commands() []Command {
	return []Command{
		// Room
		SendMessage{}, Announce{}, ReadHistory{}, RoomHead{}, GetRoom{}, GetAgreement{}, EndAgreement{},
		AddMember{}, JoinRoom{}, Welcome{}, SetMember{}, RemoveMember{}, SetHeir{}, SetRoomPolicy{}, Sweep{},
		// Tenant
		Enter{}, GetTenant{}, SetDefaults{}, ListRooms{}, CreateRoom{}, ListMembers{}, ListFormer{}, FindMember{},
		SetTenantMember{}, RemoveTenantMember{}, NameHeir{}, ListSealed{}, CreateServiceToken{}, RenewServiceToken{}, RevokeServiceToken{},
		ListServiceTokens{}, CheckServiceToken{}, AdmitToken{}, RevokeToken{}, SweepRooms{},
		ListTokens{}, RevokeTokens{}, EndSignIns{}, OfferLink{}, FindLink{}, FindHome{}, FindStanding{}, KeepHome{}, ProveMember{},
		CreateInvitation{}, RevokeInvitation{}, ListInvitations{}, FindInvitation{}, AcceptInvitation{},
		ClaimDomain{}, CheckDomain{}, VerifyDomain{}, ReleaseDomain{}, ListDomains{}, KeepDomain{}, FindDomains{},
		RegisterPasskey{}, ListPasskeys{}, FindPasskey{}, UsePasskey{}, RemovePasskey{},
		CreateContainer{}, ListContainers{}, IssueCredits{}, SetToolAccess{}, ListToolAccess{},
		// Container
		GetContainer{}, Authorize{}, CreateDocument{}, GetDocument{}, UpdateDocument{}, DeleteDocument{},
		ListDocuments{}, ListVersions{}, SearchDocuments{}, Transfer{},
		// Portal
		AddServer{}, UpdateServer{}, RemoveServer{}, ListServers{}, ListPortalTools{}, OpenServer{}, RecordSync{},
		ApproveTool{}, SaveGrant{}, BeginCall{}, EndCall{}, LogCalls{}, ReadCalls{}, GetBudget{}, SetBudget{}, CloseCalls{},
		// LedgerShard
		GetReceipt{}, GetLedgerHead{}, ReadAtoms{}, ListDeadLetters{},
		// All with alarms
		Redrive{},
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
		(*Entered)(nil), (*Tenant)(nil), []RoomEntry(nil), (*RoomSummary)(nil), []Member(nil), []FormerMember(nil),
		[]SealedPlace(nil), (*ServiceToken)(nil), []ServiceToken(nil), (*ServiceCaller)(nil), (*ServiceRenewed)(nil), (*Identity)(nil), 0,
		[]PlatformToken(nil), (*OneTimeLink)(nil), (*Home)(nil), (*Standing)(nil),
		(*Invitation)(nil), []*Invitation(nil), (*DomainClaim)(nil), []DomainClaim(nil),
		(*Passkey)(nil), (*Passkeys)(nil), (*PasskeyRecord)(nil),
		(*ContainerMade)(nil), (*ContainerList)(nil), (*ToolAccess)(nil), []*ToolAccess(nil),
		// Container
		(*Container)(nil), AgreementID(""), (*Balance)(nil), (*DocumentResult)(nil), (*DocumentList)(nil),
		(*DocumentHits)(nil), (*TransferResult)(nil),
		// Portal
		(*Server)(nil), []*Server(nil), []*PortalTool(nil), (*PortalTool)(nil), (*ServerAccess)(nil),
		(*CallTicket)(nil), (*Call)(nil), (*CallPage)(nil), (*Budget)(nil),
		// LedgerShard
		(*ReceiptPair)(nil), LedgerHead{}, (*AtomPage)(nil), []DeadLetter(nil),
	}
}
