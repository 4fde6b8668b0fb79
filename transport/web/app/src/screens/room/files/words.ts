import type { Upload } from '../../../store/db';
import { t } from '../../../words';

// whyNot says in plain words why a file wasn't taken.
export function whyNot({ error }: Upload): string {
  switch (error?.code) {
    case 'quota_exceeded':
      return t('files.full');
    case 'too_large':
      return t('files.large');
    case 'not_a_member':
    case 'forbidden':
      return t('files.forbidden');
    case 'not_found':
      return t('files.gone');
    default:
      return t('files.failed', { why: error?.message ?? '' });
  }
}

// kindOf is what to call a file, by what the server found in it.
export function kindOf(type: string, name: string): string {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1];
  return (ending ?? type.split('/')[1] ?? type).toUpperCase();
}
