import { Empty } from '../ui/Empty';
import { Screen } from '../ui/Screen';

// Confirmed is where a provider's page leads back to, in a tab of its own.
export default function Confirmed() {
  return (
    <Screen title="Confirmed" above="/ui/more">
      <Empty icon="key" title="Thank you">
        <p>Go back to the tab that asked: it continues there. You can close this one.</p>
      </Empty>
    </Screen>
  );
}
