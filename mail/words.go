package mail

// words are what a mail says in a language. Numbers stand behind a colon, so that no language needs
// forms for them.
type words struct {
	Dir       string
	Subject   string
	Others    string // who wrote, too
	MoreRooms string
	Open      string
	Why       string
	Ends      string // the link
}

// speaking is a language in which there are words, or English.
func speaking(language string) (string, words) {
	switch language {
	case "de":
		return language, words{
			Dir: "ltr", Subject: "Ungelesene Nachrichten", Others: "andere", MoreRooms: "Weitere Räume mit Ungelesenem", Open: "UBL öffnen",
			Why:  "Diese Mail kommt, weil in UBL etwas für dich ungelesen ist. Was Mails melden, stellst du in der App ein: Mehr, Einstellungen, Benachrichtigungen.",
			Ends: "Keine Mails mehr",
		}
	case "es":
		return language, words{
			Dir: "ltr", Subject: "Mensajes sin leer", Others: "otros", MoreRooms: "Otras salas con mensajes sin leer", Open: "Abrir UBL",
			Why:  "Recibes este correo porque tienes algo sin leer en UBL. Elige en la app de qué te avisan los correos: Más, Ajustes, Notificaciones.",
			Ends: "No recibir más correos",
		}
	case "ar":
		return language, words{
			Dir: "rtl", Subject: "رسائل غير مقروءة", Others: "آخرون", MoreRooms: "غرف أخرى فيها رسائل غير مقروءة", Open: "افتح UBL",
			Why:  "وصلتك هذه الرسالة لأن لديك ما لم تقرأه في UBL. اختر في التطبيق ما تخبرك به رسائل البريد: المزيد، الإعدادات، التنبيهات.",
			Ends: "إيقاف رسائل البريد",
		}
	}
	return "en", words{
		Dir: "ltr", Subject: "Unread messages", Others: "others", MoreRooms: "Other rooms with unread messages", Open: "Open UBL",
		Why:  "You get this mail because something for you is unread in UBL. Choose what mails tell you in the app: More, Settings, Notifications.",
		Ends: "Stop these mails",
	}
}
