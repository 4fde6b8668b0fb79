import { isPresent } from '../presence';
import { initials, tint } from '../text';
import { Icon, type IconName } from './Icon';

interface Props {
  // id decides on the colour, name on the letters.
  id: string;
  name: string;
  // icon stands in place of letters: for services and things.
  icon?: IconName;
  size?: 'small' | 'large';
}

// Avatar is decoration beside a name. A dot shows that the person is there.
export function Avatar({ id, name, icon, size }: Props) {
  return (
    <span class={['avatar', `tint-${tint(id)}`, size].filter(Boolean).join(' ')} aria-hidden="true">
      {!icon && isPresent(id) && <span class="here" />}
      {icon ? <Icon name={icon} size={size === 'small' ? 16 : 22} /> : initials(name)}
    </span>
  );
}
