// What a page that shares its connection with others imports: both entries of the client.
export * from '../../src/client/index.ts'
export * from '../../src/client/tabs.ts'
