import { Link } from '../router';
import { passkeysWork } from '../passkey';
import { useLoad } from '../ui/useLoad';
import { lacksWayBack } from './wayback';
import { t } from '../words';

// AddPasskey stands on the first screen of who can't come back without one.
export function AddPasskey() {
  const { data } = useLoad(lacksWayBack);
  if (!data) return null;
  return (
    <p class="notice">
      <LastChance /> <Link to="/ui/settings">{t(passkeysWork ? 'wayback.add' : 'wayback.settings')}</Link>
    </p>
  );
}

// LastChance says what a passkey is for, or that this browser makes none.
export function LastChance() {
  return passkeysWork ? (
    <>{t('wayback.chance')}</>
  ) : (
    <>{t('wayback.nochance')}</>
  );
}
