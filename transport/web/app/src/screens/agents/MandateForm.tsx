import { Check, Choice, Field } from '../../ui/Field';
import { AskFirst } from './AskFirst';
import { kindOf, type Choices, type Grant } from './mandate';
import type { Place } from './places';

interface Props {
  value: Choices;
  onValue: (value: Choices) => void;
  grants: readonly Grant[];
  places: readonly Place[];
}

// MandateForm asks what an agent may do, and where.
export function MandateForm({ value, onValue, grants, places }: Props) {
  const set = (part: Partial<Choices>) => onValue({ ...value, ...part });
  return (
    <>
      <Choice
        label="What it may do"
        value={value.everything ? 'all' : 'chosen'}
        options={[
          { value: 'chosen', label: 'What you choose' },
          { value: 'all', label: 'What members may' },
        ]}
        onValue={(v) => set({ everything: v === 'all' })}
      />
      {!value.everything && (
        <Group label="It can">
          {grants.map((g) => (
            <Check key={g.name} label={g.says} checked={value.uses.includes(g.name)} onValue={() => set({ uses: toggled(value.uses, g.name) })} />
          ))}
          {value.more.map((tool) => (
            <Check key={tool} label={`Use ${tool}`} checked onValue={() => set({ more: toggled(value.more, tool) })} />
          ))}
        </Group>
      )}
      <Choice
        label="Where"
        value={value.everywhere ? 'added' : 'chosen'}
        options={[
          { value: 'chosen', label: 'Where you choose' },
          { value: 'added', label: 'Wherever it is added' },
        ]}
        onValue={(v) => set({ everywhere: v === 'added' })}
      />
      {!value.everywhere && (
        <Group long label="Rooms and workspaces" hint="It is added to them, and sees nothing of the others.">
          {places.map((p) => (
            <Check key={p.id} label={`${p.name} (${kindOf(p.id)})`} checked={value.places.includes(p.id)} onValue={() => set({ places: toggled(value.places, p.id) })} />
          ))}
        </Group>
      )}
      <Check label="Read only" hint="It changes nothing and writes nothing." checked={value.read_only} onValue={(read_only) => set({ read_only })} />
      <Field label="Calls a minute" value={value.often} onValue={(often) => set({ often: often.trim() })} inputMode="numeric" maxLength={6} autocomplete="off" hint="Of all tools together. Leave it empty for no limit." />
      <AskFirst label="Ask a person first" value={value.confirm} onValue={(confirm) => set({ confirm })} />
    </>
  );
}

// Group is what belongs together. A long one scrolls by itself.
function Group({ label, hint, long, children }: { label: string; hint?: string; long?: boolean; children: preact.ComponentChildren }) {
  return (
    <fieldset class={long ? 'group long' : 'group'}>
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      {children}
    </fieldset>
  );
}

const toggled = (list: readonly string[], one: string) => (list.includes(one) ? list.filter((other) => other !== one) : [...list, one]);
