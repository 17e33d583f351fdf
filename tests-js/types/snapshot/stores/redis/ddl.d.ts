/** What npx frazil ddl and npx frazil fence print: scripts for a shell with redis-cli. */
export {};
