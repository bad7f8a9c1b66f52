/** The recommended rules about origins, as plain data. */

import type { Rule } from '../../api/rule.ts';
import { flag, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';

/**
 * Options of {@link originRules}. Each one reduces the number of questions and weakens the rules.
 */
export interface OriginRulesOptions {
  /**
   * A local path counts as known if a folder that contains it is known. The model may then choose
   * any file in that folder. @default false
   */
  readonly paths?: boolean | undefined;
  /**
   * A URL counts as known if the user named its host, or a person approved a URL on it. Text that
   * the model has read may then choose the page, and what data the query sends out. @default false
   */
  readonly hosts?: boolean | undefined;
}

const table = {
  paths: withDefault(flag, false),
  hosts: withDefault(flag, false),
} satisfies TableOf<OriginRulesOptions>;

/**
 * The recommended rules about where arguments came from, as plain data that can also be written
 * into a file. A tool that is not read-only asks if a target, or an identifier in a text, came
 * neither from the user nor from trusted data. A read-only tool that is `openWorld` asks if a URL
 * did not, because a fetch can send data out.
 * @throws MisuseError `invalid_option`
 * @example
 * ```ts
 * import { HostToolRegistry, originRules } from 'host-tools';
 *
 * const registry = new HostToolRegistry({ rules: originRules({ paths: true }) });
 * ```
 */
export function originRules(options?: OriginRulesOptions): Rule[] {
  const { paths, hosts } = readOptions('originRules', options, table);
  const containers = { ...(paths ? { paths } : {}), ...(hosts ? { hosts } : {}) };
  return [
    {
      id: 'origins-of-changes',
      effect: 'ask',
      annotations: { readOnly: false },
      origins: { of: ['untrusted', 'unknown'], ...containers },
    },
    {
      id: 'origins-of-urls',
      effect: 'ask',
      annotations: { readOnly: true, openWorld: true },
      origins: { of: ['untrusted', 'unknown'], only: 'urls', ...(hosts ? { hosts } : {}) },
    },
  ];
}
