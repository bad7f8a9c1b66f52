/** The counts of a registry for Prometheus. */
export { prometheusContentType, prometheusText } from './prometheus-text.ts';
