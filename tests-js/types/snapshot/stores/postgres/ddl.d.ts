/** What npx frazil ddl and npx frazil fence print: SQL for psql. */
export {};
