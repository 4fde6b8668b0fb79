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
}

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
