import manifest from '../../../package.json' with { type: 'json' }

/** Version of this Daybook from `package.json`. Part of each ETag that is not a digest of content. */
export const VERSION: string = manifest.version
