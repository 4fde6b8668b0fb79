import { t } from '../../words';

// whyNot says in words for people what the server refuses a message for.
export function whyNot({ code, message }: { code: string; message: string }): string {
  switch (code) {
    case 'not_a_member':
      return t('talk.why.left');
    case 'too_large':
      return t('talk.why.long');
    case 'forbidden':
      return t('talk.why.closed');
    default:
      return message;
  }
}
