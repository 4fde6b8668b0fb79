import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './Icon';
import { Spinner } from './Spinner';

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'label'> & {
  kind?: 'plain' | 'primary' | 'quiet' | 'danger';
  icon?: IconName;
  // label is the name of a button that shows only its icon.
  label?: string;
  // busy shows that its work goes on, and takes no second press.
  busy?: boolean;
  wide?: boolean;
  children?: ComponentChildren;
};

// Button is a button. One with an icon and no children is round.
export function Button({ kind = 'plain', icon, label, busy = false, wide, children, class: extra, disabled, ...rest }: Props) {
  const round = icon !== undefined && children === undefined;
  const classes = ['button', kind, round && 'round', wide && 'wide', extra].filter(Boolean).join(' ');
  return (
    <button type="button" {...rest} class={classes} disabled={disabled || busy} aria-busy={busy} aria-label={label} title={round ? label : rest.title}>
      {busy ? <Spinner small /> : icon && <Icon name={icon} size={round ? 24 : 20} />}
      {children}
    </button>
  );
}
