import { Badge } from '../../ui/Bits';
import type { Who } from './who';

// Standing is what to know of somebody beside their name.
export function Standing({ of }: { of: Who }) {
  return (
    <>
      {of.agent && <Badge>agent</Badge>} {of.unproven && <Badge kind="warn">unproven</Badge>} {of.left && <Badge>left</Badge>}
    </>
  );
}
