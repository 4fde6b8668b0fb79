import { useState } from 'preact/hooks';
import { count } from '../../text';
import type { Tool } from '../../types';
import { Await } from '../../ui/Await';
import { Badge } from '../../ui/Bits';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { nameFor } from '../Person';
import { ruleOf, tools } from './api';

const many = 12; // tools from which on one may want to search

// Tools are a server's, each with who may use it.
export function Tools({ server }: { server: string }) {
  const list = useLoad((signal) => tools(server, signal), [server]);
  const [text, setText] = useState('');
  return (
    <Section title="Tools">
      <Await of={list}>
        {(all) =>
          all.length === 0 ? (
            <p class="soft">The server hasn’t listed any tools yet.</p>
          ) : (
            <>
              {all.length > many && <Field label="Find a tool" type="search" autocomplete="off" value={text} onValue={setText} />}
              <List label="Tools">
                {all
                  .filter((t) => t.tool.includes(text.trim().toLowerCase()))
                  .map((t) => (
                    <Row key={t.tool} to={toolPath(t)} start={<Icon name="tool" size={20} />} title={<code>{t.upstream}</code>} sub={whoMay(t)} meta={<Mark of={t} />} />
                  ))}
              </List>
            </>
          )
        }
      </Await>
    </Section>
  );
}

function Mark({ of }: { of: Tool }) {
  if (of.held) return <Badge kind="warn">to review</Badge>;
  if (of.gone) return <Badge>gone</Badge>;
  return ruleOf(of).allowed ? <Badge kind="good">allowed</Badge> : <Badge>closed</Badge>;
}

// toolPath has a colon, by which the server tells it from the name of a file.
const toolPath = (t: Tool) => `/ui/servers/${t.server_id}/t:${t.tool}`;

// whoMay says in words who may use a tool, and how often.
export function whoMay(tool: Tool): string {
  const { allowed, users, groups, per_minute } = ruleOf(tool);
  if (!allowed) return 'Nobody';
  const whom = [...users.map(nameFor), ...groups.map((g) => `group ${g}`)];
  const who = whom.length === 0 ? 'Everyone' : whom.length <= 3 ? whom.join(', ') : `${count(users.length, 'person', 'people')}, ${count(groups.length, 'group')}`;
  return per_minute ? `${who}, ${per_minute} a minute each` : who;
}
