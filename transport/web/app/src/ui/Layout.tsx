import { online } from '../device';
import { Link, place } from '../router';
import { found, sections } from '../routes';
import { Beside } from './beside';
import { Empty } from './Empty';
import { Icon } from './Icon';
import { Screen } from './Screen';

// Layout puts a section's list and a screen side by side, or on a phone one over
// the other: which of them it shows is left to the style, so that turning the phone
// loses nothing.
export function Layout() {
  const now = found.value;
  const section = now && sections[now.route.section];
  const List = section?.list;
  const Main = now?.route.screen;
  const atList = now !== null && !Main;
  return (
    <div class="layout" data-at={atList ? 'list' : 'main'}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Bar />
      {List && now && (
        <aside class="side" data-current={atList} aria-label={section.label} id={atList ? 'main' : undefined} tabIndex={-1}>
          <Offline />
          <List key={now.route.section} params={{}} />
        </aside>
      )}
      <main class="main" data-current={!atList} id={atList ? undefined : 'main'} tabIndex={-1}>
        <Offline />
        <Beside.Provider value={section?.list ? section.to : ''}>
          {Main && now ? <Main key={place.value.path} params={now.params} /> : section ? <Empty icon={section.icon} title={section.hint ?? section.label} /> : <Nowhere />}
        </Beside.Provider>
      </main>
    </div>
  );
}

// Offline stands above the list and the screen, of which a phone shows one; where both
// show, the style leaves it to the screen.
function Offline() {
  if (online.value) return null;
  return (
    <p class="offline" role="status">
      <Icon name="offline" size={20} /> No network. Messages that you write are sent later.
    </p>
  );
}

function Bar() {
  return (
    <nav class="bar" aria-label="UBL">
      {Object.entries(sections).map(([id, { to, label, icon }]) => (
        <Link key={id} to={to} aria-current={found.value?.route.section === id ? 'true' : undefined}>
          <Icon name={icon} />
          <span>{label}</span>
        </Link>
      ))}
    </nav>
  );
}

function Nowhere() {
  return (
    <Screen title="Nothing here" above="/ui/">
      <Empty icon="search" title="This address leads nowhere">
        <Link class="button plain" to="/ui/">To your rooms</Link>
      </Empty>
    </Screen>
  );
}
