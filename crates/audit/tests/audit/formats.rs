use frazil_audit::{Audit, AuditError, Columns, Format, Kind, MemoryDisk, Options, Refusal, Report};

use super::{NOW_MS, audit, found, options, raw, try_audit};

fn refusal(result: Result<Report, AuditError>) -> Refusal {
    match result.unwrap_err() {
        AuditError::Refused(refusal) => refusal,
        AuditError::Disk(never) => match never {},
    }
}

fn columns(id: &str, host: Option<&str>) -> Columns {
    Columns { id: Some(id.into()), host: host.map(Into::into), created_at: None }
}

const ID: u64 = 284_541_350_019_043_328;

#[test]
fn pieces_of_every_size_give_one_report() {
    let csv = format!(
        "\u{feff}id;\"host \"\"x\"\"\";created_at\r\n{ID};\"web;1\";2026-02-23T06:11:21Z\r\n\r\n\"{}\";\"we\nb\";\n12a;c;d\n{ID};web;1",
        ID + 1
    );
    let json =
        format!("{{\"id\":{ID},\"host\":\"a\"}}\n{{\"x\":{{\"id\":3}},\"id\":\"{}\"}}\n nonsense \n\n{{\"id\": {ID} }}", ID + 1);
    let plain = format!("{ID}\r\n \"{}\"\n-5\nx\n\n00{ID}\n{ID}", ID + 1);
    let binary = [raw(&[ID, ID + 1, ID, u64::MAX >> 2]), vec![1, 2, 3]].concat();
    let files = [csv.into_bytes(), json.into_bytes(), plain.into_bytes(), binary];
    let whole = try_audit(options("default"), &files.each_ref().map(Vec::as_slice)).unwrap();
    assert_eq!((whole.files, whole.rows, whole.ids), (4, 19, 14));
    assert_eq!(found(&whole, Kind::Repeats)[0].count_rows, Some(12));
    let unreadable = found(&whole, Kind::Unreadable)[0];
    let rows: Vec<_> = unreadable.rows.iter().map(|row| (row.place.unwrap(), row.id.as_str())).collect();
    assert_eq!(rows[..2], [((0, 6), "12a"), ((1, 3), "nonsense")]);
    assert_eq!(rows[2..4], [((2, 4), "x"), ((2, 6), "00284541350019043328")]);
    for size in (1..20).chain([64, 1000]) {
        let mut audit = Audit::new(options("default"), MemoryDisk::default()).unwrap();
        for file in &files {
            file.chunks(size).for_each(|piece| audit.push(piece).unwrap());
            audit.end_file().unwrap();
        }
        while !audit.merge(1).unwrap() {}
        assert_eq!(audit.report(), whole, "{size}");
    }
}

#[test]
fn a_second_pass_finds_the_lines() {
    let file = format!("{ID}\n{}\n{ID}\n", ID + 1);
    let mut audit = Audit::new(options("default"), MemoryDisk::default()).unwrap();
    audit.push(file.as_bytes()).unwrap();
    audit.end_file().unwrap();
    while !audit.merge(10).unwrap() {}
    assert_eq!(audit.report().findings[0].rows[0].place, None);
    audit.locate();
    audit.push(file.as_bytes()).unwrap();
    audit.end_file().unwrap();
    let report = audit.report();
    assert_eq!(report.findings[0].rows.iter().map(|row| row.place).collect::<Vec<_>>(), [Some((0, 1)), Some((0, 3))]);
    assert_eq!(report.files, 1);
}

#[test]
fn columns_are_found_by_name_or_place() {
    let file = format!("order_id,machine\n{ID},a\n");
    let named = Options { columns: columns("order_id", Some("machine")), ..options("default") };
    assert_eq!(audit(named, &file).nodes.top[0].hosts, ["a"]);
    let placed = Options { columns: columns("2", None), ..options("default") };
    assert_eq!(audit(placed, &format!("a\t{ID}\nb\t{ID}\n")).ids, 2);
    // A lone column needs no name.
    assert_eq!(audit(options("default"), &format!("order\n{ID}\n")).ids, 1);
    let missing = refusal(try_audit(options("default"), &[file.as_bytes()]));
    assert_eq!(missing.message, "no column \"id\"; there are \"order_id\", \"machine\"");
    assert_eq!((missing.field, missing.place), ("id", Some((0, 1))));
    assert_eq!(missing.lines(), format!("{}\n{}\n0\n1", missing.message, missing.hint));
    // A cell with a line end does not move the lines that follow.
    for file in [&b"\"Order\r\nnumber\",host\n1,a\n"[..], b"id,host\n\"x\ny\",a\n"] {
        let lines = refusal(try_audit(options("default"), &[file])).lines();
        assert_eq!((lines.split('\n').count(), lines.contains('\r')), (4, false), "{lines:?}");
    }
    let key = Options { columns: columns("order", None), ..options("default") };
    assert!(refusal(try_audit(key, &[b"{\"id\":5}\n"])).message.ends_with("the object has no key \"order\""));
    let wrong = Options { columns: columns("order_id", Some("node")), ..options("default") };
    assert_eq!(refusal(try_audit(wrong, &[file.as_bytes()])).field, "host");
    let headless = refusal(try_audit(options("default"), &[format!("{ID},a\n").as_bytes()]));
    assert_eq!(headless.message, "no column \"id\": the first row has values, not names");
    let lines = refusal(try_audit(Options { columns: columns("order", None), ..options("default") }, &[b"12\n13\n"]));
    assert_eq!(lines.message, "no column \"order\": the file has an ID in each line and no columns");
    let json = Options { columns: columns("order_id", None), format: Some(Format::Ndjson), ..options("default") };
    assert_eq!(audit(json, &format!("{{\"order_id\":{ID}}}\n")).ids, 1);
}

#[test]
fn what_is_no_such_file_is_refused() {
    let message = |file: &[u8]| refusal(try_audit(options("default"), &[file])).message;
    assert_eq!(message(b"\x1f\x8b\x08\0"), "the file is compressed with gzip");
    assert_eq!(message(b"PAR1\x15\x04"), "the file is Parquet");
    assert_eq!(message(b"\xff\xfei\0d\0"), "the file is text in UTF-16");
    assert_eq!(message(b"[{\"id\":1}]"), "the file is a JSON array");
    assert_eq!(message(b""), "the input has no IDs");
    assert_eq!(message(b"id,host\n"), "the input has no IDs");
    let rounded = refusal(try_audit(options("default"), &[b"id,host\n1.23E+18,a\n1.24E+18,b\n5,c\n"]));
    assert_eq!(
        rounded.message,
        "more than half of the rows have no ID; the first of them, \"1.23E+18\": a floating-point number, whose last digits are lost"
    );
    assert_eq!(rounded.place, Some((0, 2)));
}

#[test]
fn a_row_that_is_too_long_is_unreadable() {
    let long = "9".repeat(3 << 20);
    let file = format!("{ID}\n{long}\n{ID}\n{long}");
    for size in [1 << 16, file.len()] {
        let mut audit = Audit::new(options("default"), MemoryDisk::default()).unwrap();
        file.as_bytes().chunks(size).for_each(|piece| audit.push(piece).unwrap());
        audit.end_file().unwrap();
        while !audit.merge(10).unwrap() {}
        assert_eq!((audit.report().ids, audit.report().rows), (2, 4), "{size}");
    }
}

#[test]
fn options_come_as_json() {
    let text = r#"{"nowMs":1790000000000,"layout":{"epochMs":0,"tickMs":1,"fields":[{"kind":"time","bits":48},{"kind":"sequence","bits":16}]},
        "layoutName":"own \"one\"","format":null,"id":"a","memoryBytes":1048576,"maxRows":3}"#;
    let options = Options::from_json::<()>(text).unwrap();
    assert_eq!((options.memory_bytes, options.max_rows, options.now_ms), (1 << 20, 3, NOW_MS));
    assert_eq!(options.layout.unwrap().bits(), 64);
    assert_eq!(options.layout_name.as_deref(), Some("own \"one\""));
    for (wrong, field) in [
        ("", "options"),
        ("{}", "nowMs"),
        (r#"{"nowMs":1,"format":"xml"}"#, "format"),
        (r#"{"nowMs":1,"maxRows":-1}"#, "maxRows"),
        (r#"{"nowMs":1,"layout":{"epochMs":0,"fields":[]}}"#, "layout"),
        (r#"{"nowMs":1,"layout":{"epochMs":0,"fields":[{"kind":"salt","bits":1}]}}"#, "kind"),
    ] {
        match Options::from_json::<()>(wrong) {
            Err(AuditError::Refused(refusal)) => assert_eq!(refusal.field, field, "{wrong}"),
            other => panic!("{wrong}: {other:?}"),
        }
    }
}
