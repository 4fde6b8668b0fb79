// morning is the hour at which tomorrow begins for notifications and reminders.
const morning = 9;

// tomorrow is the next day's morning, by the clock here.
export function tomorrow(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, morning);
}

// monday is the morning of the next Monday after today.
export function monday(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + ((8 - now.getDay()) % 7 || 7), morning);
}
