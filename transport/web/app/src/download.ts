// Files that the server makes while they are read, and that may be larger than a page's memory: the
// browser takes them by itself, as it follows a link.

import { ApiError, head } from './api';
import { confirm } from './screens/Confirm';
import { t } from './words';

// download has the browser keep what a URL answers, under a name. Whether the server would answer
// is asked before: of a refusal a browser says only that the download has failed.
export async function download(url: string, name: string): Promise<void> {
  await head(url).catch(async (problem) => {
    if (!refusedWith(403, problem)) throw inWords(problem);
    if (!(await confirm())) throw new Error(t('download.confirm'));
    await head(url).catch((again) => Promise.reject(inWords(again)));
  });
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}

const refusedWith = (status: number, problem: unknown) => problem instanceof ApiError && problem.status === status;

// inWords says what an answer to HEAD can't: it has no body.
function inWords(problem: unknown): unknown {
  if (refusedWith(403, problem)) return new Error(t('download.refused'));
  if (refusedWith(429, problem)) return new Error(t('download.busy'));
  return problem;
}
