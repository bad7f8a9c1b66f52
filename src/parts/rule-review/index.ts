/** The review that finds rules and quotas that can never match. */
export { ruleReview } from './part.ts';
