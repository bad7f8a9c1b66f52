/** Why a call was refused, as a text for the model and the person. */
import type { ToolError } from '../../core.ts';

/** The message of an error, and the rule that it comes from. */
export function refusal(error: ToolError | undefined): string {
  if (error === undefined) return 'The call was refused.';
  const { message, ruleId } = error as ToolError & { readonly ruleId?: string };
  return ruleId === undefined || message.includes(ruleId)
    ? message
    : `${message} (rule \`${ruleId}\`)`;
}

/** The rule that an error comes from; undefined if it comes from none. */
export function ruleOf(error: ToolError | undefined): string | undefined {
  return (error as (ToolError & { readonly ruleId?: string }) | undefined)?.ruleId;
}
