package unsubscribe

import "ubl/transport/envelope"

// page is what is shown. Without a button there is nothing to do.
type page struct{ Language, Dir, Title, Text, Button string }

// words are what pages say in a language.
type words struct{ language, dir, title, question, button, stopped, invalid, again string }

// speaking are the words of a language, or English ones.
func speaking(language string) words {
	switch language {
	case "de":
		return words{
			"de", "ltr", "Mails von UBL", "Möchtest du keine Mails mehr über Ungelesenes? In der App kannst du sie jederzeit wieder einschalten.", "Keine Mails mehr",
			"Du bekommst keine Mails mehr über Ungelesenes.", "Dieser Link ist nicht gültig.", "Das hat nicht geklappt. Versuch es noch einmal.",
		}
	case "es":
		return words{
			"es", "ltr", "Correos de UBL", "¿No quieres más correos sobre mensajes sin leer? Puedes volver a activarlos en la app cuando quieras.", "No recibir más correos",
			"No recibirás más correos sobre mensajes sin leer.", "Este enlace no es válido.", "No ha funcionado. Inténtalo otra vez.",
		}
	case "ar":
		return words{
			"ar", "rtl", "رسائل بريد UBL", "هل تريد ألا تصلك رسائل بريد عن غير المقروء؟ يمكنك تشغيلها في التطبيق متى شئت.", "إيقاف رسائل البريد",
			"لن تصلك رسائل بريد عن غير المقروء بعد الآن.", "هذا الرابط غير صالح.", "لم ينجح ذلك. حاول مرة أخرى.",
		}
	}
	return words{
		"en", "ltr", "Mails from UBL", "Do you want no more mails about unread messages? You can turn them on again in the app at any time.", "Stop these mails",
		"You get no more mails about unread messages.", "This link is not valid.", "That didn't work. Try again.",
	}
}

var template = envelope.NewPage("{{.Title}}", `<h1 lang="{{.Language}}" dir="{{.Dir}}">{{.Title}}</h1>
<p lang="{{.Language}}" dir="{{.Dir}}">{{.Text}}</p>
{{if .Button}}<form method="post" lang="{{.Language}}" dir="{{.Dir}}"><button>{{.Button}}</button></form>
{{end}}`)
