export interface ZooKeeperTransaction {
    check(path: string, version: number): unknown;
    create(path: string, data: Uint8Array, acls: never, mode: number): unknown;
    setData(path: string, data: Uint8Array, version: number): unknown;
    remove(path: string, version: number): unknown;
    commit(callback: never): void;
}
export interface ZooKeeperClient {
    getState(): {
        readonly code: number;
    };
    create(path: string, data: Uint8Array, acls: never, mode: number, callback: never): void;
    setData(path: string, data: Uint8Array, version: number, callback: never): void;
    getData(path: string, callback: never): void;
    getChildren(path: string, callback: never): void;
    getACL(path: string, callback: never): void;
    exists(path: string, callback: never): void;
    transaction(): ZooKeeperTransaction;
    on(event: "expired" | "connected", listener: () => void): unknown;
    close(): void;
}
