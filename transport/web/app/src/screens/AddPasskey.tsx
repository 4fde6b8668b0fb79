import { Link } from '../router';
import { passkeysWork } from '../passkey';
import { useLoad } from '../ui/useLoad';
import { lacksWayBack } from './wayback';

// AddPasskey stands on the first screen of who can't come back without one.
export function AddPasskey() {
  const { data } = useLoad(lacksWayBack);
  if (!data) return null;
  return (
    <p class="notice">
      <LastChance /> <Link to="/ui/settings">{passkeysWork ? 'Add a passkey' : 'Settings'}</Link>
    </p>
  );
}

// LastChance says what a passkey is for, or that this browser makes none.
export function LastChance() {
  return passkeysWork ? (
    <>Add a passkey now: without one you can’t come back after signing out, or after twelve hours away.</>
  ) : (
    <>Without a passkey you can’t come back after signing out, or after twelve hours away. This browser makes none here: they need https, or this machine.</>
  );
}
