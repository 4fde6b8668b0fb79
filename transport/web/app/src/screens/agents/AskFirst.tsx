import { Select } from '../../ui/Field';
import { asks, type Asks } from './mandate';

// AskFirst chooses before which uses of tools by agents a person is asked.
export function AskFirst({ label, value, onValue }: { label: string; value: Asks; onValue: (asks: Asks) => void }) {
  return <Select label={label} value={value} options={asks} onValue={onValue} hint="In the agent's client, which must be able to show a form. Otherwise the call is refused." />;
}
