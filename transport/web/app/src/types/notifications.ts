import type { Language } from '../words/locale';

// Level is which messages of a room reach somebody; '' goes by the room.
export type Level = 'all' | 'mentions' | 'nothing';

export interface RoomPreference {
  room_id: string;
  level?: Level;
  muted_until?: string; // when the room is heard again
  favourite?: boolean;
  section?: string;
}

// QuietHours are a time of each day at which nothing reaches somebody.
export interface QuietHours {
  from: string; // 22:00
  to: string;
  zone: string;
  days?: string[]; // mon to sun, on which they begin; every day where absent
}

export interface Preferences {
  rooms?: RoomPreference[];
  sections?: string[];
  keywords?: string[];
  quiet?: QuietHours;
  disturb_at?: string; // when one may be disturbed again
  preview?: 'none' | '';
  mail?: MailLevel; // absent where nobody has chosen
  mail_text?: boolean; // mails say how messages begin
  language?: Language; // of mails
}

// MailLevel is which unread messages a mail tells of: those for one, while no device is reached or
// always; or daily all of them.
export type MailLevel = 'off' | 'mentions' | 'always' | 'daily';

// Device is a browser that notifications reach.
export interface Device {
  device_id: string;
  name: string;
  added_at: string;
}

export interface Reminder {
  reminder_id: string;
  room_id: string;
  msg_id: string;
  at: string;
  note?: string;
  due?: boolean;
}

// Reached is what a person wants to hear of, and where it reaches them.
export interface Reached {
  user_id: string;
  preferences: Preferences;
  devices: Device[];
  reminders: Reminder[];
  quiet_until?: string;
  mail?: Mailed; // absent where the server sends none
}

// Mailed is how mails reach a person: at no address while they have proven none.
export interface Mailed {
  address?: string;
  failed?: { address: string; message: string; at: string };
}

// Scheduled is a message that is sent for its author later, once or by a rule.
export interface Scheduled {
  scheduled_id: string;
  room_id: string;
  text: string;
  mentions?: string[];
  reply_to?: string;
  thread?: string;
  at: string; // when it is sent next, or should have been
  zone?: string; // by which the rule goes
  rule?: string; // RFC 5545, absent for once
  start?: string;
  sending?: boolean;
  last?: { msg_id: string; at: string };
  failed?: { code: string; message: string; at: string };
}
