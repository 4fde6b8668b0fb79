// morning is the hour at which tomorrow begins for notifications and reminders.
const morning = 9;

// tomorrow is the next day's morning, by the clock here.
export function tomorrow(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, morning);
}

// mondayIsTomorrow says that both are the same morning, which is offered once.
export const mondayIsTomorrow = (now: Date) => now.getDay() === 0;

// monday is the morning of the next Monday after today.
export function monday(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + ((8 - now.getDay()) % 7 || 7), morning);
}
