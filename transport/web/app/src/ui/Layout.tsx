import { useEffect } from 'preact/hooks';
import { beside, listen, open } from '../commands';
import { online } from '../device';
import { Link, place } from '../router';
import { found, pathOf, sections } from '../routes';
import { t } from '../words';
import { Beside } from './beside';
import { Empty } from './Empty';
import { Icon } from './Icon';
import { lazy } from './lazy';
import { Screen } from './Screen';

const Palette = lazy(() => import('../screens/palette/Palette'));
const Keys = lazy(() => import('../screens/palette/Keys'));

// Layout puts a section's list, a screen and its detail side by side, two of them, or on a
// phone one over the other: which of them it shows is left to the style, so that turning
// the phone loses nothing. The list stays as it is while one goes from screen to screen,
// and the screen while a detail opens beside it.
export function Layout() {
  const now = found.value;
  const section = now && sections[now.route.section];
  const List = section?.list;
  const Main = now?.route.screen;
  const Detail = now?.route.detail;
  const at = !now ? 'main' : Detail ? 'detail' : Main ? 'main' : 'list';
  const current = (pane: string) => ({ 'data-current': at === pane, id: at === pane ? 'main' : undefined, tabIndex: -1 });
  const path = now ? pathOf(now.route, now.params) : '';
  useEffect(listen, []);
  useEffect(() => {
    beside.value = Detail ? path : '';
  }, [Detail, path]);
  return (
    <div class="layout" data-at={at}>
      <a class="skip" href="#main">
        {t('app.skip')}
      </a>
      <Bar />
      {List && now && (
        <aside class="side" aria-label={t(section.label)} {...current('list')}>
          <Offline />
          <List key={now.route.section} params={{}} />
        </aside>
      )}
      <main class="main" {...current('main')}>
        <Offline />
        <Beside.Provider value={{ pane: 'main', list: section?.list ? section.to : '' }}>
          {Main && now ? <Main key={path} params={now.params} /> : section ? <Empty icon={section.icon} title={t(section.hint)} /> : <Nowhere />}
        </Beside.Provider>
      </main>
      {Detail && now && (
        <aside class="detail" aria-label={t('app.detail')} {...current('detail')}>
          <Offline />
          <Beside.Provider value={{ pane: 'detail', list: '' }}>
            <Detail key={place.value.path} params={now.params} />
          </Beside.Provider>
        </aside>
      )}
      {open.value === 'palette' && <Palette onClose={close} />}
      {open.value === 'keys' && <Keys onClose={close} />}
    </div>
  );
}

const close = () => void (open.value = null);

// Offline stands above the list, the screen and its detail, of which a phone shows one;
// where more show, the style leaves it to the screen.
function Offline() {
  if (online.value) return null;
  return (
    <p class="offline" role="status">
      <Icon name="offline" size={20} /> {t('app.offline')}
    </p>
  );
}

function Bar() {
  return (
    <nav class="bar" aria-label="UBL">
      {Object.entries(sections).map(([id, { to, label, icon }]) => (
        <Link key={id} to={to} aria-current={found.value?.route.section === id ? 'true' : undefined}>
          <Icon name={icon} />
          <span>{t(label)}</span>
        </Link>
      ))}
    </nav>
  );
}

function Nowhere() {
  return (
    <Screen title={t('app.nowhere')} above="/ui/">
      <Empty icon="search" title={t('app.nowhere.title')}>
        <Link class="button plain" to="/ui/">{t('app.nowhere.action')}</Link>
      </Empty>
    </Screen>
  );
}
