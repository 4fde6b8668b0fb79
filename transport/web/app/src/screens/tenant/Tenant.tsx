import { isOwner, me } from '../../session';
import { Empty } from '../../ui/Empty';
import { Screen } from '../../ui/Screen';
import { t } from '../../words';
import { Way } from '../agreement/Way';
import { Domains } from './Domains';
import { Sealed } from './Sealed';
import './tenant.css';

// Tenant is what its owners look after: who joins by their address, and what nobody is
// left in.
export default function Tenant() {
  return (
    <Screen title={t('menu.tenant')} above="/ui/more">
      {isOwner.value ? (
        <>
          <Domains />
          <Sealed />
          <Way to={`a:tenant:${me.value?.tenant_id}`} />
        </>
      ) : (
        <Empty icon="lock" title="Owners look after the tenant">
          <p>Ask an owner about its mail domains, and about rooms that nobody is left in.</p>
        </Empty>
      )}
    </Screen>
  );
}
