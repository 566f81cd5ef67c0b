import manifest from '../../../package.json' with { type: 'json' }

/** The version of this Daybook, as `package.json` has it; part of every ETag that is not of content. */
export const VERSION: string = manifest.version
