import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import { back, go, place } from '../router';
import { t } from '../words';
import { Below, Beside } from './beside';
import { screen } from './title';
import { Button } from './Button';

interface Props {
  title: string;
  // above is the screen that "back" leads to where one didn't come from within the app.
  above?: string;
  // sub stands below the title, small.
  sub?: ComponentChildren;
  actions?: ComponentChildren;
  // fixed is for screens that scroll by themselves, such as rooms.
  fixed?: boolean;
  // foot stays below what scrolls: a composer.
  foot?: ComponentChildren;
  children: ComponentChildren;
}

// Screen is the frame of every screen: a head with its name, what scrolls, and
// perhaps a foot. When one has moved there the name takes the focus, so that a screen
// reader says where one is.
export function Screen({ title, above, sub, actions, fixed, foot, children }: Props) {
  const name = useRef<HTMLHeadingElement>(null);
  const { pane, list } = useContext(Beside);
  const below = useContext(Below);
  const { path, moved } = place.value;
  useEffect(() => {
    if (!name.current?.closest('[data-current="true"]')) return;
    screen.value = title;
  }, [path, title]);
  useEffect(() => {
    if (moved && name.current?.closest('[data-current="true"]')) name.current.focus({ preventScroll: true });
  }, [path]);
  return (
    <div class="screen">
      <header class="head">
        {above && <Button kind="quiet" class={backClass(pane, above === list)} icon="back" label={t('do.back')} onClick={() => back(above)} />}
        <div class="names">
          <h1 ref={name} tabIndex={-1} dir="auto">
            {title}
          </h1>
          {sub && (
            <p class="sub" dir="auto">
              {sub}
            </p>
          )}
        </div>
        {actions && <div class="actions">{actions}</div>}
        {above && pane === 'detail' && <Button kind="quiet" class="shut" icon="close" label={t('do.close')} onClick={() => go(above)} />}
      </header>
      {below}
      <div class={fixed ? 'middle fixed' : 'middle'}>{children}</div>
      {foot && <div class="foot">{foot}</div>}
    </div>
  );
}

// backClass tells the style where the way back is needed: a detail is closed where there is
// room for it beside the screen, and a list that stands beside needs no way to it.
const backClass = (pane: string, toList: boolean) => ['back', toList && 'to-list', pane === 'detail' && 'from-detail'].filter(Boolean).join(' ');

// Section is a part of a screen under a heading of its own.
export function Section({ title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="section">
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
