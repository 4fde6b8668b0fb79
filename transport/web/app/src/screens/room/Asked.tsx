// What is opened by what one writes, or adds there: it is fetched with the first of it.

import { lazy } from '../../ui/lazy';
import type { Talk } from './talk';

const NewPoll = lazy(() => import('./NewPoll'));
const Schedule = lazy(() => import('./Schedule'));
const ToolCall = lazy(() => import('./ToolCall'));

export default function Asked({ talk }: { talk: Talk }) {
  return (
    <>
      {talk.polling.value !== null && <NewPoll talk={talk} />}
      {talk.planning.value && <Schedule talk={talk} of={talk.planning.value} />}
      {talk.calling.value && <ToolCall talk={talk} of={talk.calling.value} />}
    </>
  );
}
