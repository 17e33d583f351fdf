// Beside the code of the page: answers "seal KEY ID" and "open KEY TEXT" (hexadecimal), line by line.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		parts := strings.Split(lines.Text(), " ")
		key, _ := hex.DecodeString(parts[1])
		if parts[0] == "seal" {
			id, _ := strconv.ParseUint(parts[2], 10, 64)
			text, err := sealID(id, key)
			if err != nil {
				panic(err)
			}
			fmt.Println(text)
			continue
		}
		text, _ := hex.DecodeString(parts[2])
		if id, err := openID(string(text), key); err != nil {
			fmt.Println("refused")
		} else {
			fmt.Println(id)
		}
	}
}
