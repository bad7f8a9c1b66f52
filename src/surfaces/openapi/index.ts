/** The operations of HTTP APIs that an OpenAPI document describes, as governed tools. */

export type { Pin as OpenApiPin } from '../shared/import-options.ts';
export type { PinDrift as OpenApiDrift } from '../shared/pins.ts';
export type { ToolLabels as OpenApiToolLabels } from '../shared/tool-labels.ts';
export type { OpenApiAuth, OpenApiRequest } from './call.ts';
export type { OpenApiDocument } from './document.ts';
export { importOpenApi } from './import.ts';
export type { ImportOpenApiOptions } from './import-options.ts';
export type { ImportedOpenApi, OpenApiWarning } from './imported.ts';
export type { OpenApiFailure } from './operations.ts';
