/** Reads what a config says about the app of its tool. */
import type { ToolUi } from '../../api/tool-fields.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { kind, readOptions, wrongOption } from '../../values/options/index.ts';
import { asField } from './config-fields.ts';

const maxHtmlChars = 4_000_000;
const uiTable = {
  resourceUri: kind<string>(
    'a `ui://` address of at most 2048 characters',
    (value) => typeof value === 'string' && /^ui:\/\/[!-~]{1,2043}$/.test(value),
  ),
  visibility: kind<NonNullable<ToolUi['visibility']>>(
    'a list of "model" and "app"',
    (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((one) => one === 'model' || one === 'app'),
  ),
  html: kind<NonNullable<ToolUi['html']>>(
    `HTML of at most ${maxHtmlChars} characters, or a function`,
    (value) =>
      typeof value === 'function' || (typeof value === 'string' && value.length <= maxHtmlChars),
  ),
};

/** The app of a tool, and whom the tool is for, if not for all. */
export interface ReadUi extends ToolUi {
  readonly only: 'model' | 'app' | undefined;
  /** As clients are shown it. */
  readonly said: JsonObject;
}

export function readUi(value: object | undefined, where: string): ReadUi | undefined {
  if (value === undefined) return undefined;
  const wording = { ...asField, path: 'ui' };
  const { resourceUri, visibility: given, html } = readOptions(where, value, uiTable, wording);
  if (html !== undefined && resourceUri === undefined)
    throw wrongOption(where, 'resourceUri', uiTable.resourceUri.expected, resourceUri, wording);
  if (resourceUri === undefined && given === undefined)
    throw wrongOption(where, 'ui', 'an object with `resourceUri` or `visibility`', value, asField);
  const visibility = given && [...new Set(given)];
  return {
    resourceUri,
    visibility,
    html,
    only: visibility?.length === 1 ? visibility[0] : undefined,
    // Leaves out what is not given.
    said: JSON.parse(JSON.stringify({ _meta: { ui: { resourceUri, visibility } } })),
  };
}
