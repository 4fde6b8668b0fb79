import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import { back, place } from '../router';
import { Beside } from './beside';
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
  const beside = useContext(Beside);
  const { path, moved } = place.value;
  useEffect(() => {
    if (!name.current?.closest('[data-current="true"]')) return;
    document.title = title === 'UBL' ? title : `${title} · UBL`;
  }, [path, title]);
  useEffect(() => {
    if (moved && name.current?.closest('[data-current="true"]')) name.current.focus({ preventScroll: true });
  }, [path]);
  return (
    <div class="screen">
      <header class="head">
        {above && <Button kind="quiet" class={above === beside ? 'back to-list' : 'back'} icon="back" label="Back" onClick={() => back(above)} />}
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
      </header>
      <div class={fixed ? 'middle fixed' : 'middle'}>{children}</div>
      {foot && <div class="foot">{foot}</div>}
    </div>
  );
}

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
