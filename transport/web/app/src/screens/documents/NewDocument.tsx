import { back, go, type ScreenProps } from '../../router';
import './documents.css';
import { Editor } from './Editor';

// NewDocument writes the first version of a document.
export default function NewDocument({ params: { w = '' } }: ScreenProps) {
  const above = `/ui/workspaces/${w}`;
  return <Editor w={w} above={above} onCancel={() => back(above)} onSaved={({ document }) => go(document ? `${above}/${document.document_id}` : above, { replace: true })} />;
}
