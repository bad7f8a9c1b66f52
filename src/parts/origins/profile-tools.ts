/** The labels that profiles give to tools. */

import type { ProfileTool, ProfileTools } from '../../core/rules/profile.ts';
import type { FieldLabels } from '../../core/tool/definition.ts';
import { checkLabels } from './check-labels.ts';
import { checkOriginLabels, checkRoleLabels } from './profile-labels.ts';

/** The labels of a tool in a profile; undefined if there are none. */
export function labelsIn({ more }: ProfileTool): FieldLabels | undefined {
  return more?.origins === undefined && more?.roles === undefined
    ? undefined
    : (more as FieldLabels);
}

export const profileTools: ProfileTools = {
  read({ origins, roles }, where, path) {
    checkOriginLabels(origins, where, `${path}.origins`);
    checkRoleLabels(roles, where, `${path}.roles`);
  },
  check(profileId, entry, tool) {
    const labels = labelsIn(tool);
    if (labels !== undefined) checkLabels(profileId, entry, labels);
  },
};
