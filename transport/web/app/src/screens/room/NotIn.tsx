import { Empty } from '../../ui/Empty';

// NotIn stands in place of a room that one is in no longer, or never was.
export function NotIn() {
  return (
    <Empty icon="lock" title="You aren’t in this room">
      <p>It may not exist, or somebody who owns it has to add you.</p>
    </Empty>
  );
}
