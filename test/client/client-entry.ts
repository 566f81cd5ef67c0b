// Imports of a page that shares its connection between tabs: both entries of the client.
export * from '../../src/client/index.ts'
export * from '../../src/client/tabs.ts'
