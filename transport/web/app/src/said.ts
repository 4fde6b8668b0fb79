// said is a sentence about any error, for people.

import { ApiError } from './api';
import { t } from './words';

export function said(problem: unknown): string {
  if (problem instanceof ApiError && problem.code === 'offline') return t('app.unreachable');
  if (!(problem instanceof Error)) return t('do.failed');
  const text = problem.message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
