// The highlighter, fetched with the first code that names its language.

import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

// Coloured is a text, or what has a colour: its kind is a class of markdown.css.
export type Coloured = string | { kind: string; children: Coloured[] };

const known = createLowlight({ bash, css, diff, go, java, json, python, rust, sql, typescript, xml, yaml });
known.registerAlias({ typescript: ['javascript', 'js', 'jsx', 'mjs'] });

interface Parsed {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Parsed[];
}

// highlight is null for a language that isn't known.
export function highlight(text: string, language: string): Coloured[] | null {
  if (!known.registered(language)) return null;
  return (known.highlight(language, text).children as Parsed[]).map(plain);
}

function plain({ type, value, properties, children }: Parsed): Coloured {
  if (type === 'text') return value ?? '';
  const names = properties?.className;
  return { kind: Array.isArray(names) ? names.join(' ') : '', children: (children ?? []).map(plain) };
}
